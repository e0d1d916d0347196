/** The configuration: files that are none, names that lead nowhere, references that cannot be resolved. */
import { AGENT_RUNNERS, type ConfigFacts } from '../../../engine/config/facts.ts';
import { replaceWithin } from '../../../base/document/document.ts';
import { say, quoted } from '../../../base/finding.ts';
import { type AnyRule, hint, near, nearName, rule, remedy } from '../rule.ts';
import { secretHint } from '../vocabulary/secrets.ts';

const CONFIGURATION =
  'name the configuration, -c PATH/sluice.yaml, or leave -c out in the folder of that file';

/** What each kind of file is for. */
const BELONGS: Readonly<Record<ConfigFacts['NOT_A_CONFIGURATION']['kind'], string>> = {
  'mapping file':
    'mapping files are found by the configuration: "sluice check" without -c reads all of its mappings folder',
  'request file': 'a request file is an argument of its own: sluice explain FILE',
  expectation: '"sluice test" finds expectations by itself, beside their request files',
  'package.json': 'nothing of Sluice is set in it',
};

const OTHER_FILES: readonly AnyRule[] = [
  hint('NOT_A_CONFIGURATION', ['other-file', 'certain'], ({ kind, isOwn }) =>
    isOwn
      ? 'move mappings into files of their own, mappings/NAME.yaml, or below hooks.mappings; "sluice init" writes a configuration'
      : `${CONFIGURATION}; ${BELONGS[kind]}`,
  ),
];

const NAMES: readonly AnyRule[] = [
  nearName('UNKNOWN_AGENT', ({ written, known }) => near(written, known)),
  hint(
    'UNKNOWN_AGENT',
    ['unknown-name', 'guess'],
    ({ known }) => `choose one of the agents: ${known.join(', ') || '(none)'}`,
  ),
  nearName('UNKNOWN_PRESET', ({ written, known }) => near(written, known)),
  hint('UNKNOWN_PRESET', ['unknown-name', 'guess'], ({ written, known }) => {
    const isSender = /^[a-z][a-z-]{1,40}$/.test(written);
    const add = isSender ? `; of other senders a mapping is written: "sluice add ${written}"` : '';
    return `choose one of the presets: ${known.join(', ')}${add}`;
  }),
  nearName('UNKNOWN_RUNNER', ({ written, runners }) => near(written, runners)),
  rule({
    on: 'UNKNOWN_RUNNER',
    name: 'kind-of-runner',
    confidence: 'likely',
    find: ({ written, isMain }) => {
      const kind = written.trim().toLowerCase();
      return isMain && AGENT_RUNNERS.includes(kind) ? `{kind: ${kind}}` : undefined;
    },
    say: (text) => say`write runner: ${text}`,
    fix: (text, { at }) => at && { edit: { at, text } },
  }),
  hint(
    'UNKNOWN_RUNNER',
    ['unknown-name', 'guess'],
    ({ runners }) =>
      `choose one of the runners: ${runners.join(', ')}; further ones are keys of gateway.runners`,
  ),
  nearName(
    'MODEL_NOT_SERVED',
    ({ provider = '', known }) => {
      const renamed = near(provider, known);
      return renamed && { from: `${renamed.from}/`, to: `${renamed.to}/` };
    },
    ({ to }) => say`did you mean "${to}…"?`,
  ),
  hint(
    'MODEL_NOT_SERVED',
    ['unknown-provider', 'guess'],
    ({ known }) => `choose one of the providers: ${known.join(', ') || '(none)'}`,
  ),
];

/** A reference with a default, which there is not here. */
const withoutDefault = ({ withDefault }: ConfigFacts['INVALID_REFERENCE']): string | undefined =>
  withDefault &&
  `write \${${withDefault.variable}}, as a reference has no default here, and set ${withDefault.variable} where the service starts; or write the value in its place`;

/** A name with a space, a hyphen or a dollar, as other tools and hurried hands write it, is a name all the same. */
function variableOf(written: string): string {
  return written
    .trim()
    .replace(/^\{\s*/, '')
    .replace(/^(?:env[.:]|secrets\.|vars\.|process\.env\.|\$)/, '')
    .trim()
    .replaceAll(/[\s.-]+/g, '_')
    .slice(0, 80);
}

const REFERENCES: readonly AnyRule[] = [
  hint(
    'MISSING_VARIABLE',
    ['not-set', 'guess'],
    ({ name }) => `set ${name} before starting (a file .env is not read by itself), or use {file: PATH}`,
  ),
  rule({
    on: 'INVALID_REFERENCE',
    name: 'variable-of-other-tool',
    confidence: 'certain',
    find: ({ literal }) => literal,
    say: (name) => say`write \${${name}}`,
    fix: (name, { at }) => {
      const isLine = at !== undefined && !at.source.text.slice(at.start, at.end).includes('\n');
      return isLine ? { edit: { at, text: `"\${${name}}"` } } : undefined;
    },
  }),
  hint('INVALID_REFERENCE', ['value-of-variable', 'certain'], ({ value }) => {
    if (value?.hasQuotes !== true) return value && `set ${value.name} to ${value.wanted}`;
    return `set ${value.name} without quotes where the service starts: env_file of Docker and docker run --env-file keep them as part of the value`;
  }),
  hint('INVALID_REFERENCE', ['default', 'certain'], withoutDefault),
  rule({
    on: 'INVALID_REFERENCE',
    name: 'near-name',
    confidence: 'likely',
    find: ({ written = '' }) => {
      const name = variableOf(written);
      return /^[A-Za-z_]\w*$/.test(name) ? { written, name } : undefined;
    },
    say: ({ name }) => say`did you mean \${${name}}? a literal \${ is written as $\${`,
    fix: ({ written, name }, { at }) => {
      const whole = `\${${written}}${written.startsWith('{') ? '}' : ''}`;
      const edit = at && replaceWithin(at, whole, `\${${name}}`);
      return edit && { edit };
    },
  }),
  hint('INVALID_REFERENCE', ['literal', 'guess'], () => 'write $${ for a literal ${'),
];

export const CONFIGURATION_RULES: readonly AnyRule[] = [...OTHER_FILES, ...NAMES, ...REFERENCES];

export const SECRETS = [
  rule({
    on: 'VERIFY_SECRET',
    name: 'wrong-secret',
    confidence: 'certain',
    find: (facts) => facts,
    say: (facts) => quoted(secretHint(facts)),
  }),
];

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
      say`set agents.defaults.maxTimeoutSeconds: ${asked}, or write timeoutSeconds: ${most} here`,
  ),
];
