/* Conditions that ask for a key with a dot in its name, which a condition cannot read and a transform can. */
import { codeOfRule, codeOfSteps, splitRule, transformFile, whenOf } from '../transform-files.ts';
import { formatPlace, inWords } from '../../document/document.ts';
import type { AdviceNote } from './evaluation-advice.ts';
import { isReserved, namesRead, type ConsideredMapping } from '../../mapping/mapping.ts';
import type { HookRequest } from '../../request.ts';
import { findSplitKey } from './split-keys.ts';
import { missingIn } from './instead.ts';

/** Keys with dots in them, which conditions asked for; a key with slashes alone a condition can read. */
export function splitKeyNotes(
  considered: readonly ConsideredMapping[],
  request: HookRequest,
): readonly AdviceNote[] {
  const notes = new Map<string, AdviceNote>();
  for (const [at, each] of considered.entries()) {
    const later = considered.slice(at + 1).filter(({ failed }) => failed?.part !== 'path');
    for (const name of missingIn(each)) {
      const keys = findSplitKey(name, request);
      const key = keys?.find((step) => step.includes('.'));
      if (keys === undefined || key === undefined || notes.has(key)) continue;
      const what = `${key} is one key of the body, and a condition cannot read it, because a dot ends a step of its path`;
      const text = `${what}: ${whatToDo(each, request, keys)}${laterText(later)}`;
      notes.set(key, { code: 'split_key', text, names: keys });
    }
  }
  return [...notes.values()];
}

/** A transform decides in place of that part of the condition; what it does not return stays as the mapping makes it. */
function whatToDo(
  { mapping, nodes = [] }: ConsideredMapping,
  request: HookRequest,
  keys: readonly string[],
): string {
  const { id, at, transform, forEach } = mapping;
  const isSplit = (name: string): boolean =>
    findSplitKey(name, request)?.some((key) => key.includes('.')) === true;
  const codeOf = (name: string): string => codeOfKeys(findSplitKey(name, request) ?? name.split('.'));
  const { within, left } = splitRule(nodes[0]?.rule, (each) => namesRead(each).some(isSplit));
  const checks = within.map((each) => codeOfRule(each, codeOf));
  const when = whenOf(left);
  const rest = when === undefined ? 'take when out' : `write ${when}`;
  if (checks.length === 0 || checks.includes(undefined) || forEach !== undefined)
    return `take the request without that part of the condition, and decide in a transform, which returns null to skip it; there it is ${codeOfKeys(keys)}`;
  if (transform !== undefined)
    return `in ${id} (${formatPlace(at)}) ${rest}, and begin the function of ${transform.module} with if (!(${checks.join(' && ')})) return null;`;
  const file = transformFile(mapping, {
    lines: [],
    checks: checks.flatMap((code) => code ?? []),
    returned: '{}',
  });
  return `${file}\nand in ${id} (${formatPlace(at)}) ${rest}, and beside match the line transform: ${id}.js. All else of the mapping stays: null skips the request, and {} leaves the message as it is`;
}

/** A mapping without its condition takes what went on to the later ones. */
function laterText(later: readonly ConsideredMapping[]): string {
  const names = later.map(({ mapping: { id, at } }) => `${id} (${formatPlace(at)})`);
  return names.length === 0
    ? ''
    : `. What it skips no longer reaches ${inWords(names)}, which ${names.length === 1 ? 'stands' : 'stand'} later: let the transform return that message, too, in place of null`;
}

function codeOfKeys(keys: readonly string[]): string {
  const [root = '', ...rest] = isReserved(keys[0] ?? '') ? keys : ['payload', ...keys];
  const [first, ...more] = rest;
  return root + codeOfSteps(first === undefined ? [] : [first]) + codeOfSteps(more, '?.');
}
