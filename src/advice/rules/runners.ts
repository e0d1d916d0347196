/** Runners and models that cannot work with what the configuration and its mappings say. */
import { say } from '../../finding.ts';
import { hint, remedy } from '../rule.ts';

export const RUNNERS = [
  remedy(
    'PLUGIN_NOT_LOADED',
    say`name a package that is installed, or a file relative to the configuration; its default export is a channel module`,
  ),
  hint('RUNNER_SETTINGS', ['model-runner', 'certain'], ({ runner, of, key }) => {
    if (of === 'no-model') return say`set agents.defaults.model to provider/model, or model in the mapping`;
    if (of === 'model')
      return say`name a model of one of them, or add its provider to gateway.runners.${runner}.providers`;
    if (key === undefined)
      return say`run that command where Sluice is installed, with -g where it is installed globally`;
    if (key.endsWith('.apiKey')) return say`add apiKey there, as \${NAME} or {file: PATH}`;
    if (key.endsWith('.baseUrl')) return say`add the address, for example http://127.0.0.1:11434/v1`;
    return key === 'providers'
      ? say`gateway.runners.${runner}.providers says which models can be asked, and through which package`
      : say`rename it; models are named provider/model`;
  }),
  remedy(
    'COST_NOT_TOLD',
    say`give it a Claude Code or opencode agent as runner, which say it; or bound the runs in place of what they cost: limits: {runsPerHour: 60}`,
  ),
  hint(
    'TIMEOUT_CUT',
    ['limit', 'certain'],
    ({ asked, most }) =>
      say`write maxTimeoutSeconds: ${asked} below agents.defaults, or timeoutSeconds: ${most} here`,
  ),
];
