import { formatPlace } from '../../base/document/document.ts';
import { say, write, type Sentence } from '../../base/finding.ts';
import type { BodyFormat } from '../../base/payload/payload.ts';
import type { CompiledMapping } from '../../engine/mapping/mapping.ts';

export function ownPath(path: string, { id }: CompiledMapping): string {
  return id.startsWith(`${path}-`) && /^[\w-]+$/.test(id)
    ? id
    : `${path}-${/^(?!mapping-\d)[\w-]+$/.test(id) ? id : '2'}`;
}

/**
 * Says what to write where a body of another format than that of its path came. Returns undefined where no
 * mapping of the path names a format.
 */
export function formatNote(
  path: string,
  found: BodyFormat,
  mappings: readonly CompiledMapping[],
): Sentence | undefined {
  const all = mappings.filter(({ match }) => match.path === path);
  const owners = all.filter(({ settingsAt }) => settingsAt?.bodyFormat !== undefined);
  const others = all.filter((mapping) => !owners.includes(mapping));
  if (owners.length === 0) return undefined;
  const said = owners.map((each) => `${each.id} (${placeOfFormat(each)})`).join(' and ');
  const format = owners[0]?.settings.bodyFormat ?? 'json';
  return others.length === 0
    ? say`bodyFormat: ${format} stands in ${said}; ${write(`bodyFormat: ${found}`)} there only where every request of the path is such; otherwise these need a mapping with a path of their own`
    : say`bodyFormat: ${format} of ${said} holds for the whole path ${path}, and so for ${names(others)}, too; ${moveOwners(path, owners, others)}`;
}

const names = (mappings: readonly CompiledMapping[]): string =>
  mappings.map(({ id, at }) => `${id} (${formatPlace(at)})`).join(' and ');

const placeOfFormat = ({ settingsAt, at }: CompiledMapping): string =>
  formatPlace(settingsAt?.bodyFormat ?? at);

function moveOwners(
  path: string,
  owners: readonly CompiledMapping[],
  others: readonly CompiledMapping[],
): Sentence {
  const [first] = owners;
  if (first === undefined) return say``;
  const name = ownPath(path, first);
  const who = owners.map(({ id }) => id).join(' and ');
  const isProved = first.settings.verify === undefined && others.some(({ settings }) => settings.verify);
  const proof = isProved ? say`, with the same verify` : '';
  return say`${write(`match.path: ${name}`)} in ${who}, in place of ${path}${proof}, and let its sender post to that address (its last part is then ${name}); ${path} then takes JSON again`;
}
