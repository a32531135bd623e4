import { toolOf } from './define.js'

const of = (verb) => (args) => [`${verb} environment:${args.environment}/${args.service ?? args.flag}`]

export const tools = [
  toolOf('deploy_status', 'read', 'What runs where.', { service: 'text', 'environment?': 'text' }),
  toolOf(
    'deploy_start',
    'execute',
    'Deploy a version.',
    { service: 'text', environment: 'text', version: 'text', 'percent?': 'whole' },
    of('write'),
  ),
  toolOf(
    'deploy_rollback',
    'execute',
    'Go back to a version.',
    { service: 'text', environment: 'text', to: 'text' },
    of('write'),
  ),
  toolOf(
    'flag_set',
    'external',
    'Set a feature flag.',
    { flag: 'text', environment: 'text', on: 'flag', 'percent?': 'whole' },
    of('write'),
  ),
  toolOf('run_checks', 'execute', 'Run the checks of a service.', { service: 'text', 'suite?': 'text' }),
  toolOf('logs_read', 'read', 'Read logs of a service.', { service: 'text', environment: 'text', 'lines?': 'whole' }),
  toolOf('environment_delete', 'destructive', 'Delete an environment.', { environment: 'text' }),
]
