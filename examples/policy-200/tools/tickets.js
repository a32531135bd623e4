import { toolOf } from './define.js'

export const tools = [
  toolOf('ticket_search', 'read', 'Search tickets.', { query: 'text', 'project?': 'text', 'limit?': 'whole' }),
  toolOf('ticket_read', 'read', 'Read one ticket.', { id: 'text' }),
  toolOf('ticket_create', 'external', 'Create a ticket.', {
    project: 'text',
    title: 'text',
    body: 'text',
    'labels?': 'texts',
  }),
  toolOf('ticket_comment', 'external', 'Comment on a ticket.', { id: 'text', body: 'text', 'public?': 'flag' }),
  toolOf('ticket_move', 'write', 'Move a ticket to another state.', { id: 'text', to: 'text' }),
  toolOf('ticket_assign', 'write', 'Assign a ticket.', { id: 'text', to: 'text' }),
  toolOf('ticket_delete', 'destructive', 'Delete a ticket.', { id: 'text' }),
]
