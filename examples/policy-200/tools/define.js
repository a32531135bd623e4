// Tools that do nothing but say what they would do: the example is about the rules.

import { defineTool } from 'lockgate'

const SHAPES = {
  text: { type: 'string' },
  whole: { type: 'integer' },
  number: { type: 'number' },
  flag: { type: 'boolean' },
  texts: { type: 'array', items: { type: 'string' } },
}

/** `inputs`: argument name → kind; a name that ends in `?` may be left out. */
export function toolOf(name, effect, description, inputs, touches) {
  const names = Object.keys(inputs)
  return defineTool({
    name,
    version: '1.0.0',
    description,
    effect,
    input: {
      type: 'object',
      properties: Object.fromEntries(names.map((key) => [key.replace('?', ''), SHAPES[inputs[key]]])),
      required: names.filter((key) => !key.endsWith('?')),
      additionalProperties: false,
    },
    ...(touches === undefined ? {} : { touches }),
    run: async (args) => `${name} would do it: ${JSON.stringify(args)}`,
  })
}
