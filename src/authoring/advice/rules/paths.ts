import { formatPlace } from '../../../base/document/document.ts';
import { say } from '../../../base/finding.ts';
import { quote, type MappingSubject } from '../../../engine/mapping/facts.ts';
import { type CompiledMapping } from '../../../engine/mapping/mapping.ts';
import { replacing, type LookFinding, type Look, type Rules } from '../rule.ts';

/** Such settings describe what a sender sends, and not what an operator wants. */
const OF_SENDER: ReadonlySet<string> = new Set(['bodyFormat', 'method', 'verify', 'challenge']);

const pathOf = ({ source }: MappingSubject): string =>
  (source.match?.path ?? '').trim().replace(/^\/+|(?<!\/)\/+$/g, '');

function wildcard(subject: MappingSubject): readonly LookFinding[] {
  const path = pathOf(subject);
  const sign = /(?:^|\/)[\w-]*?(\*+|(?<![\w-]):[A-Za-z]\w*)(?=\/|$)/.exec(path)?.[1];
  if (sign === undefined) return [];
  return [
    {
      message: say`the path ${quote(path)} takes only requests to exactly this name: ${quote(sign)} stands for itself`,
      at: subject.located.place(['match', 'path']),
      hint: say`write one mapping for each name; one without match.path takes every name, and {{path}} prints it`,
    },
  ];
}

function withBase(subject: MappingSubject): readonly LookFinding[] {
  const [path, base] = [pathOf(subject), subject.hooksPath.replace(/^\/+/, '')];
  if (base === '' || !path.startsWith(`${base}/`)) return [];
  const name = path.slice(base.length + 1);
  const found = {
    message: say`the path ${quote(path)} begins with hooks.path, so senders would have to post to ${quote(`/${base}/${path}`)}`,
    at: subject.located.place(['match', 'path']),
    hint: say`write only the hook name: ${name}`,
  };
  return [replacing(found, (subject.source.match?.path ?? '').trim(), name)];
}

/** Suggests a hook name of its own for a mapping of another path. */
function ownPath(path: string, { id }: CompiledMapping): string {
  return id.startsWith(`${path}-`) && /^[\w-]+$/.test(id)
    ? id
    : `${path}-${/^(?!mapping-\d)[\w-]+$/.test(id) ? id : '2'}`;
}

const placed = ({ id, at }: CompiledMapping): string => `${id} (${formatPlace(at)})`;

export const PATHS: Rules = {
  PATH_SETTINGS_DIFFER: [
    ({ key, path, values: [, second] }) =>
      OF_SENDER.has(key)
        ? `give this mapping a path of its own, such as match: {path: ${ownPath(path, second)}}, and let its sender post there, as all mappings of a path share one ${key}; where their requests are of one kind, set ${key} in only one of the mappings`
        : `set ${key} in only one of the mappings of this path`,
  ],
  PATH_SETTINGS_WITHOUT_PATH: [
    ({ key }) =>
      key === 'maxBodyBytes'
        ? 'add match.path, or set hooks.maxBodyBytes, which holds for every path'
        : 'add match.path with the name of the hook',
  ],
  UNREACHABLE_MAPPING: [
    ({ isSame, mapping, before }) =>
      isSame
        ? `give "${before.id}" a condition (match.when) that leaves some requests to "${mapping.id}", or remove one of them, as the two ask for the same. Only the first mapping that matches acts: where both are meant to, let a transform of "${before.id}" return a list of two, [{ message: … }, { message: … }]`
        : `move ${placed(mapping)} before ${placed(before)}; the first mapping that matches acts, and files are taken by their names`,
  ],
  RESERVED_PATH: [
    ({ reserved }) =>
      `remove this mapping, as these routes work without one, or choose another name; ${reserved.map((name) => `"${name}"`).join(', ')} are reserved`,
  ],
  MAPPING_FILE_PASSED_OVER: [
    ({ name }) => {
      const yaml = /^(.+?\.(?:yaml|yml|json))\.\w+$/i.exec(name)?.[1];
      return /\.(?:toml|json5|jsonc)$/i.test(name)
        ? `write it as YAML, ${name.replace(/\.[^.]*$/, '')}.yaml, or move it out of this folder`
        : `rename it${yaml === undefined ? '' : `, to ${yaml}`}, or move it out of this folder`;
    },
  ],
};

export const PATH_LOOKS: readonly Look[] = [
  { on: 'mapping', codes: ['MAPPING_PATH_WILDCARD'], find: wildcard },
  { on: 'mapping', codes: ['MAPPING_PATH_WITH_BASE'], find: withBase },
];
