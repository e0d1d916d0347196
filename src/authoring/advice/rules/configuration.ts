import { AGENT_RUNNERS, type ConfigFacts } from '../../../engine/config/facts.ts';
import { replaceWithin } from '../../../base/document/document.ts';
import { say } from '../../../base/finding.ts';
import { nearName, oneOf, type Rules } from '../rule.ts';
import { secretHint } from '../vocabulary/senders.ts';

const CONFIGURATION =
  'name the configuration, -c PATH/sluice.yaml, or leave -c out in the folder of that file';

const BELONGS: Readonly<Record<ConfigFacts['NOT_A_CONFIGURATION']['kind'], string>> = {
  'mapping file':
    'mapping files are found by the configuration: "sluice check" without -c reads all of its mappings folder',
  'request file': 'a request file is an argument of its own: sluice explain FILE',
  expectation: '"sluice test" finds expectations by itself, beside their request files',
  'package.json': 'nothing of Sluice is set in it',
};

/** A name with a space, a hyphen or a dollar is accepted as a name, because other tools write it so. */
function variableOf(written: string): string {
  return written
    .trim()
    .replace(/^\{\s*/, '')
    .replace(/^(?:env[.:]|secrets\.|vars\.|process\.env\.|\$)/, '')
    .trim()
    .replaceAll(/[\s.-]+/g, '_')
    .slice(0, 80);
}

export const CONFIGURATION_RULES: Rules = {
  NOT_A_CONFIGURATION: [
    ({ kind, isOwn }) =>
      isOwn
        ? 'move mappings into files of their own, mappings/NAME.yaml, or below hooks.mappings; "sluice init" writes a configuration'
        : `${CONFIGURATION}; ${BELONGS[kind]}`,
  ],
  UNKNOWN_AGENT: [
    ({ written, known }, finding) => nearName(written, known, finding),
    ({ known }) => oneOf('agents', known),
  ],
  UNKNOWN_PRESET: [
    ({ written, known }, finding) => nearName(written, known, finding),
    ({ written, known }) => {
      const isSender = /^[a-z][a-z-]{1,40}$/.test(written);
      const add = isSender ? `; of other senders a mapping is written: "sluice add ${written}"` : '';
      return `${oneOf('presets', known)}${add}`;
    },
  ],
  UNKNOWN_RUNNER: [
    ({ written, runners }, finding) => nearName(written, runners, finding),
    ({ written, isMain }, { at }) => {
      const kind = written.trim().toLowerCase();
      const text = `{kind: ${kind}}`;
      return isMain && AGENT_RUNNERS.includes(kind)
        ? { hint: say`write runner: ${text}`, edit: at && { at, text } }
        : undefined;
    },
    ({ runners }) => `${oneOf('runners', runners)}; further ones are keys of gateway.runners`,
  ],
  MODEL_NOT_SERVED: [
    ({ provider = '', known }, finding) =>
      nearName(provider, known, finding, (to) => say`did you mean "${to}/…"?`),
    ({ known }) => oneOf('providers', known),
  ],
  MISSING_VARIABLE: [
    ({ name }) => `set ${name} before starting (a file .env is not read by itself), or use {file: PATH}`,
  ],
  INVALID_REFERENCE: [
    ({ literal: name }, { at }) => {
      if (name === undefined) return undefined;
      const isLine = at !== undefined && !at.source.text.slice(at.start, at.end).includes('\n');
      return {
        hint: say`write \${${name}}`,
        edit: isLine ? { at, text: `"\${${name}}"` } : undefined,
      };
    },
    ({ value }) => {
      if (value?.hasQuotes !== true) return value && `set ${value.name} to ${value.wanted}`;
      return `set ${value.name} without quotes where the service starts: env_file of Docker and docker run --env-file keep them as part of the value`;
    },
    ({ withDefault }) =>
      withDefault &&
      `write \${${withDefault.variable}}, as a reference has no default here, and set ${withDefault.variable} where the service starts; or write the value in its place`,
    ({ written = '' }, { at }) => {
      const name = variableOf(written);
      if (!/^[A-Za-z_]\w*$/.test(name)) return undefined;
      const whole = `\${${written}}${written.startsWith('{') ? '}' : ''}`;
      return {
        hint: say`did you mean \${${name}}? a literal \${ is written as $\${`,
        edit: at && replaceWithin(at, whole, `\${${name}}`),
      };
    },
    () => 'write $${ for a literal ${',
  ],
  VERIFY_SECRET: [secretHint],
  RUNNER_SETTINGS: [
    ({ runner, of, key }) => {
      if (of === 'no-model') return 'set agents.defaults.model to provider/model, or model in the mapping';
      if (of === 'model')
        return `name a model of one of them, or add its provider to gateway.runners.${runner}.providers`;
      if (key === undefined)
        return 'run that command where Sluice is installed, with -g where it is installed globally';
      if (key.endsWith('.apiKey')) return 'add apiKey there, as ${NAME} or {file: PATH}';
      return key === 'providers'
        ? `gateway.runners.${runner}.providers says which models can be asked, and through which package`
        : 'rename it; models are named provider/model';
    },
  ],
  TIMEOUT_CUT: [
    ({ asked, most }) =>
      `set agents.defaults.maxTimeoutSeconds: ${asked}, or write timeoutSeconds: ${most} here`,
  ],
};
