import { toolOf } from './define.js'

const of = (verb) => (args) => [`${verb} repo:${args.repo}/${args.path ?? args.branch ?? '*'}`]

export const tools = [
  toolOf('repo_list_pulls', 'read', 'List pull requests.', { repo: 'text', 'state?': 'text' }, of('read')),
  toolOf(
    'repo_read_file',
    'read',
    'Read one file of a repository.',
    { repo: 'text', path: 'text', 'ref?': 'text' },
    of('read'),
  ),
  toolOf(
    'repo_create_branch',
    'write',
    'Create a branch.',
    { repo: 'text', branch: 'text', 'from?': 'text' },
    of('write'),
  ),
  toolOf('repo_open_pull', 'external', 'Open a pull request.', {
    repo: 'text',
    title: 'text',
    body: 'text',
    base: 'text',
    'draft?': 'flag',
  }),
  toolOf('repo_comment', 'external', 'Comment on a pull request.', { repo: 'text', number: 'whole', body: 'text' }),
  toolOf('repo_merge_pull', 'external', 'Merge a pull request.', {
    repo: 'text',
    number: 'whole',
    method: 'text',
    base: 'text',
  }),
  toolOf('repo_delete_branch', 'destructive', 'Delete a branch.', { repo: 'text', branch: 'text' }, of('delete')),
]
