import { toolOf } from './define.js'

const of = (verb) => (args) => [`${verb} table:${args.table.replace('.', '/')}`]

export const tools = [
  toolOf(
    'query_table',
    'read',
    'Read rows of a table.',
    { table: 'text', 'columns?': 'texts', 'limit?': 'whole' },
    of('read'),
  ),
  toolOf('describe_table', 'read', 'Columns of a table.', { table: 'text' }),
  toolOf(
    'load_table',
    'write',
    'Load a file into a table.',
    { table: 'text', file: 'text', mode: 'text' },
    of('write'),
  ),
  toolOf('drop_table', 'destructive', 'Drop a table.', { table: 'text' }, of('delete')),
  toolOf('share_table', 'external', 'Share a table with somebody.', { table: 'text', with: 'text' }, of('read')),
]
