import type { Place } from '../../base/document/document.ts';
import { say } from '../../base/finding.ts';
import { CREDENTIAL_NAMES } from '../../base/request.ts';
import { quote } from '../../engine/mapping/facts.ts';
import { schemesOfHeader } from '../../engine/verify/facts.ts';
import { SEE_OTHER_TOOLS } from './other-tools.ts';
import { replacing, type LookFinding } from './rule.ts';

/** Says why a path is not to be read: it finds nothing, whatever is sent, or a proof. */
export function emptyPath(
  keys: readonly string[],
  at: Place,
  { of, withItem }: { readonly of: 'template' | 'condition'; readonly withItem: boolean },
): LookFinding | undefined {
  const isCondition = of === 'condition';
  return (
    (isCondition ? inBrackets(keys.join('.'), at) : undefined) ??
    ofOtherTool(keys.join('.'), at) ??
    unreadable(keys, at) ??
    (isCondition ? proof(keys, at) : undefined) ??
    (withItem ? undefined : item(keys, at, isCondition))
  );
}

function inBrackets(name: string, at: Place): LookFinding | undefined {
  const dotted = name.replaceAll(/\.?\[(?:(\d+)|["']([^"'.[\]]+)["'])\]/g, '.$1$2').replace(/^\./, '');
  if (!name.includes('[') || /[[\]]/.test(dotted)) return undefined;
  const found = {
    code: 'FOREIGN_PATH',
    message: say`brackets are for templates: a condition reads ${quote(name)} as the name of a field`,
    at,
    hint: say`write ${dotted}`,
  };
  return replacing(found, name, dotted);
}

function ofOtherTool(path: string, at: Place): LookFinding | undefined {
  if (!/^(?:\$[\w.]|\.\w|\{\{)|\[(?:\*?\]|\?)|\.\*(?:\.|$)/.test(path)) return undefined;
  return {
    code: 'FOREIGN_PATH',
    message: say`${quote(path)} is a path of another tool; here the fields of the body stand at its root`,
    at,
    hint: SEE_OTHER_TOOLS,
  };
}

function unreadable([root = '', name]: readonly string[], at: Place): LookFinding | undefined {
  if (name === undefined) return undefined;
  const lower = root === 'headers' ? name.toLowerCase() : name;
  if ((root === 'headers' || root === 'query') && CREDENTIAL_NAMES[root].has(lower)) {
    const what = lower === 'proxy-authorization' ? 'the password of a proxy' : 'the hook token';
    return {
      code: 'TOKEN_CARRIER_READ',
      isOfSafety: true,
      message: say`"${root}.${lower}" is always empty: it can carry ${what}, so it is removed before evaluation`,
      at,
      hint: say`let the sender put the value into another ${root === 'headers' ? 'header' : 'parameter'}`,
    };
  }
  if (root !== 'headers' || name === lower) return undefined;
  const found = {
    code: 'HEADER_NAME_CASE',
    message: say`header names are in lower case here, found "${name.slice(0, 80)}"`,
    at,
    hint: say`write headers.${lower.slice(0, 80)}`,
  };
  return replacing(found, name, lower);
}

function proof([root, header = '']: readonly string[], at: Place): LookFinding | undefined {
  const schemes = root === 'headers' ? schemesOfHeader(header).join(' or ') : '';
  if (schemes === '') return undefined;
  return {
    code: 'TOKEN_CARRIER_READ',
    isOfSafety: true,
    message: say`"headers.${header}" is how ${schemes} proves itself, which verify judges, before any condition is asked`,
    at,
    hint: say`let verify judge it, and leave this part of the condition out: scheme ${schemes}, with the secret that the sender has`,
  };
}

function item(keys: readonly string[], at: Place, isCondition: boolean): LookFinding | undefined {
  const [root] = keys;
  if (root !== 'item' && root !== 'index') return undefined;
  const name = keys.join('.');
  const hint = `write payload.${name.slice(0, 80)} for the value that has this name in the body`;
  const found = { code: 'ITEM_WITHOUT_FOR_EACH', at };
  if (!isCondition)
    return {
      ...found,
      message: say`"${root}" is always empty: the mapping has no forEach`,
      hint: say`add forEach with the path of a list, or ${hint}`,
    };
  const message = say`"${root}" is always empty: a condition chooses the mapping before forEach takes its elements`;
  return replacing({ ...found, message, hint: say`${hint}` }, name, `payload.${name}`);
}
