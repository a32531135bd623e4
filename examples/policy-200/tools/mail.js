import { toolOf } from './define.js'

export const tools = [
  toolOf('mail_search', 'read', 'Search mails.', { folder: 'text', query: 'text' }),
  toolOf('mail_draft', 'write', 'Write a draft.', { to: 'text', subject: 'text', body: 'text' }),
  toolOf('mail_send', 'external', 'Send a mail.', { to: 'text', subject: 'text', body: 'text', 'template?': 'text' }),
  toolOf('mail_delete', 'destructive', 'Delete a mail.', { id: 'text' }),
]
