import { quoted, say, type Sentence } from '../../base/finding.ts';
/** How a mapping is put before another one: files of mappings are taken by their names. */

interface Placed {
  readonly id: string;
  /** `file:line:column`. */
  readonly at: string;
}

const fileOf = (at: string): string => at.replace(/:\d+:\d+$/, '');

/** In one file the entry moves; of two files the later one gets a name that sorts before the other. */
export function moveBefore(later: Placed, first: Placed): Sentence {
  const [file, other] = [fileOf(later.at), fileOf(first.at)];
  const [, folder = '', name = ''] = /^(.*\/)?([^/]+)$/.exec(file) ?? [];
  const [, otherFolder = '', otherName = ''] = /^(.*\/)?([^/]+)$/.exec(other) ?? [];
  const move = `move ${later.id} (${later.at}) before ${first.id} (${first.at})`;
  if (file === other || folder !== otherFolder) return quoted(move);
  const wanted = [`0-${name}`, `0-${otherName.replace(/\.[^.]+$/, '')}-${name}`].find(
    (each) => each < otherName,
  );
  return wanted === undefined
    ? say`${move}: files are taken by their names, so write both in one file, as a list, ${later.id} first`
    : say`${move}: files are taken by their names, so rename ${file} to ${folder}${wanted}`;
}
