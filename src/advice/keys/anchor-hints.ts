import { isJsonObject } from '../../json.ts';
import { type LocatedValue, type Path, singleQuoted } from '../../document/document.ts';

/** Longer values are shared by an anchor each. */
const MAX_SHOWN = 200;

/** A value in one line. */
const flow = (value: unknown): string =>
  typeof value === 'string' ? singleQuoted(value) : JSON.stringify(value);

/**
 * What to write in place of a key that holds what others share (`x-common: &common`), or of a merge key
 * (`<<: *common`), which is no part of YAML 1.2. Undefined where the key is neither.
 */
export function anchorHint(root: LocatedValue, path: Path, key: string): string | undefined {
  const { source, end } = root.place([...path, key], 'key');
  const written = source.text.slice(end, root.place([...path, key]).end + 80);
  const [, sign, name = ''] = /^["']?\s*:\s*([&*])([\w-]+)/.exec(written) ?? [];
  if (sign === undefined || (key === '<<') !== (sign === '*')) return undefined;
  if (sign === '&' && !source.text.includes(`*${name}`)) return undefined;
  const { value } = root.at([...path, key]);
  const own = root.at(path).value as Readonly<Record<string, unknown>>;
  if (!isJsonObject(value))
    return `move the anchor to where the value is used first, then remove this key: key: &${name} …`;
  const shared = Object.keys(value).filter((each) => sign === '&' || !Object.hasOwn(own, each));
  const plain = shared.map((each) => `${each}: ${flow(value[each])}`).join(', ');
  if (plain.length <= MAX_SHOWN && !/token|secret|passw|key/i.test(plain))
    return sign === '&'
      ? `no keys of your own stand here, and YAML 1.2 has no merge keys (<<): in place of each <<: *${name} write ${plain}; then remove ${key}`
      : `YAML 1.2 has no merge keys: in place of this line write ${plain}`;
  const first = shared.map((each) => `${each}: &${each} …`).join(' and ');
  const others = shared.map((each) => `${each}: *${each}`).join(' and ');
  return sign === '&'
    ? `no keys of your own stand here, and YAML 1.2 has no merge keys (<<): write ${first} in the first entry that has it, ${others} in the others; then remove ${key} and each <<: *${name}`
    : `YAML 1.2 has no merge keys: write ${others} here, and ${first} where it stands first, before this line`;
}
