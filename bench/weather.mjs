// A trivial read with a schema of three fields, and arguments for it.

export const input = {
  type: 'object',
  properties: {
    city: { type: 'string', minLength: 1, maxLength: 100 },
    days: { type: 'integer', minimum: 1, maximum: 1_000_000 },
    unit: { type: 'string', enum: ['c', 'f'] },
  },
  required: ['city', 'days', 'unit'],
  additionalProperties: false,
}
export const args = { city: 'Reykjavik', days: 3, unit: 'c' }
export const forecast = async ({ city, days, unit }) => ({ city, high: days + 10, unit })
