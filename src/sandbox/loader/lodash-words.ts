/** What the language has in place of functions of lodash, underscore and ramda. */
const WORDS: Readonly<Record<string, string>> = {
  get: "payload.a?.b ?? 'none'",
  groupBy: 'Object.groupBy(list, (one) => one.key)',
  keyBy: 'Object.fromEntries(list.map((one) => [one.key, one]))',
  countBy: 'Object.groupBy(list, (one) => one.key), and .length of each',
  uniq: '[...new Set(list)]',
  uniqBy: '[...new Map(list.map((one) => [one.key, one])).values()]',
  sortBy: 'list.toSorted((a, b) => a.key - b.key), for texts a.key.localeCompare(b.key)',
  orderBy: 'list.toSorted((a, b) => b.key - a.key), for texts b.key.localeCompare(a.key)',
  pick: '{ a: value.a, b: value.b }',
  omit: 'const { a, ...rest } = value',
  isEmpty: 'Object.keys(value ?? {}).length === 0',
  compact: 'list.filter(Boolean)',
  capitalize: 'text.charAt(0).toUpperCase() + text.slice(1)',
  upperFirst: 'text.charAt(0).toUpperCase() + text.slice(1)',
  sum: 'list.reduce((sum, one) => sum + Number(one), 0)',
  sumBy: 'list.reduce((sum, one) => sum + Number(one.key), 0)',
  truncate: 'text.slice(0, 100)',
  cloneDeep: 'structuredClone(value)',
  merge: '{ ...a, ...b }',
  head: 'list[0]',
  first: 'list[0]',
  last: 'list.at(-1)',
  isString: "typeof value === 'string'",
  isNil: 'value == null',
  map: 'list.map(fn)',
  filter: 'list.filter(fn)',
  find: 'list.find(fn)',
  flatMap: 'list.flatMap(fn)',
  flatten: 'list.flat()',
};
const USUAL = ['get', 'groupBy', 'uniq', 'sortBy'];

/** Of the functions that a file uses, or else of the usual ones. */
export function insteadOfLodash(source: string): string {
  const [, from, path, fallback] =
    /\bget\(\s{0,9}([A-Za-z_$][\w$.]{0,80}),\s{0,9}['"]([A-Za-z_$][\w$.]{0,80})['"](?:,\s{0,9}('[^'\n]{0,60}'|"[^"\n]{0,60}"|\w{1,30}))?\s{0,9}\)/.exec(
      source,
    ) ?? [];
  const used = Object.keys(WORDS).filter((name) =>
    new RegExp(`(?<![.\\w$]|_\\.)\\b${name}\\(|_\\.${name}\\(`).test(source),
  );
  const exact =
    path === undefined ? undefined : `${from ?? ''}.${path.replaceAll('.', '?.')} ?? ${fallback ?? "'none'"}`;
  const parts = (used.length === 0 ? USUAL : used)
    .slice(0, 8)
    .map((name) => `of ${name}: ${(name === 'get' ? exact : undefined) ?? WORDS[name] ?? ''}`);
  return `the language has it; remove this line, and write in place ${parts.join('; ')}`;
}
