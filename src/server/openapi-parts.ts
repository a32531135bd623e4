// What the paths of the OpenAPI document have in common: answers, refusals, parameters, and the words for scopes.

import { type AdminRoute, NEEDS, NOT_FOR_CALLERS } from './admin-needs.ts'
import { LIST_MAX } from './admin-request.ts'
import { reference } from './openapi-schemas.ts'

export const jsonBody = (schema: object): object => ({ content: { 'application/json': { schema } } })
export const answer = (description: string, schema: object): object => ({ description, ...jsonBody(schema) })
export const given = (name: string): object => ({ required: true, ...jsonBody(reference(name)) })
export const problemBody = (description: string): object => ({
  description,
  content: { 'application/problem+json': { schema: reference('Problem') } },
})
export const listOf = (key: string, name: string): object => ({
  type: 'object',
  required: [key],
  properties: { [key]: { type: 'array', items: reference(name) } },
})

/** Which scopes a route needs, in words; `more` is what else there is to say. */
export const scoped = (route: AdminRoute, more = ''): string => {
  const scopes = NEEDS[route].map((scope) => `\`${scope}\``).join(' or ')
  const without = NOT_FOR_CALLERS.has(route) ? ', and not `call`' : ''
  return `Scope: ${scopes}${without}.${more === '' ? '' : ` ${more}`}`
}

export const REFUSALS = {
  '401': problemBody('No token, or one that is unknown, ended or expired.'),
  '403': problemBody('The credential lacks a scope, which is named; or the Host or Origin is not one of this server.'),
}
export const BODY_REFUSALS = {
  '400': problemBody(
    'The body is no JSON that every reader reads alike, or does not have the shape that is asked for.',
  ),
  '413': problemBody('The body is larger than 4 MiB.'),
  '415': problemBody('The body is not labelled application/json.'),
}
export const QUERY_REFUSALS = { '400': problemBody('A key of the query is unknown, given twice or out of bounds.') }
export const ID = { name: 'id', in: 'path', required: true, schema: { type: 'string', maxLength: 128 } }
export const LIMIT = {
  name: 'limit',
  in: 'query',
  schema: { type: 'integer', minimum: 1, maximum: LIST_MAX, default: 100 },
}
