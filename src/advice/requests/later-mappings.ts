/* Mappings behind the one taken that would have taken the request, too: only the first one acts. */
import { formatPlace } from '../../document/document.ts';
import type { Evaluation } from '../../hook/hook.ts';
import {
  compileReader,
  conjunctsOf,
  conjunctTexts,
  namesRead,
  takesRequest,
  WORK_LIMITS,
  WorkBudget,
  type CompiledMapping,
  type RoutingTable,
  type Scope,
} from '../../mapping/mapping.ts';
import { isJsonObject, type JsonValue } from '../../json.ts';
import type { HookRequest } from '../../request.ts';
import type { LaterMapping } from './evaluation-advice.ts';
import { shown } from './field-list.ts';

/** Mappings named at most. */
const MAX_NAMED = 10;

/** Finds them in their order. */
export function laterMappings(
  { mapping }: Evaluation,
  request: HookRequest,
  { mappings }: RoutingTable,
): readonly LaterMapping[] {
  if (mapping === undefined) return [];
  const scope = { request, work: new WorkBudget(WORK_LIMITS) };
  const found: LaterMapping[] = [];
  for (const other of mappings.filter(({ order }) => order > mapping.order)) {
    if (found.length === MAX_NAMED) break;
    try {
      if (takesRequest(other, scope)) found.push(laterMapping(mapping, other, scope));
    } catch {
      // A condition that does not end on this body takes nothing.
      break;
    }
  }
  return found;
}

/** How a mapping stands to the one taken, by what their conditions ask for. */
function laterMapping(taken: CompiledMapping, other: CompiledMapping, scope: Scope): LaterMapping {
  const [rule, later] = [taken, other].map(({ match: { when } }) => when?.trace(scope).nodes[0]?.rule);
  const asked = new Set(conjunctTexts(rule));
  const isSource = other.match.source === undefined || other.match.source === taken.match.source;
  const takesAny = isSource && conjunctTexts(later).every((each) => asked.has(each));
  const narrowed = takesAny || later === undefined ? undefined : withoutThose(rule, later);
  const about = { id: other.id, at: formatPlace(other.at), takesAny };
  if (narrowed !== undefined) return { ...about, narrowed };
  const unread = takesAny || later === undefined ? undefined : unreadBy(rule, later, scope);
  return unread === undefined ? about : { ...about, unread };
}

/** The first text that a condition compares, and that another does not read: most likely it names the kind of request. */
function unreadBy(
  rule: JsonValue | undefined,
  later: JsonValue,
  scope: Scope,
): LaterMapping['unread'] | undefined {
  const plain = (name: string): string => name.replace(/^payload\./, '');
  const read = new Set(namesRead(rule ?? null).map(plain));
  for (const path of namesRead(later)) {
    if (path === '' || read.has(plain(path))) continue;
    const value = compileReader(path.split('.'))(scope);
    if (typeof value === 'string' && value.length <= MAX_KIND)
      return { path, value: shown(path.split('.'), value) };
  }
  return undefined;
}

/** Longer texts are no names of a kind. */
const MAX_KIND = 60;

/** Letters of a condition that is given whole. */
const MAX_CONDITION = 300;

/** A condition that leaves to another mapping what that asks for. */
function withoutThose(rule: JsonValue | undefined, later: JsonValue): string | undefined {
  // Of a missing field, the contrary of a comparison is no truth, either: it would leave those requests to nobody.
  if (!isAboutPresence(later)) return undefined;
  const negated = { '!': isJsonObject(later) && '!!' in later ? later['!!'] : [later] };
  const text = JSON.stringify({ and: [...conjunctsOf(rule), negated] });
  return text.length > MAX_CONDITION ? undefined : text;
}

/** Whether a condition asks only what is there, which is always known. */
function isAboutPresence(rule: JsonValue): boolean {
  if (!isJsonObject(rule)) return false;
  const [only] = Object.entries(rule);
  if (only === undefined) return false;
  const [operator, operands] = only;
  if (operator === 'var') return true;
  const list = Array.isArray(operands) ? (operands as readonly JsonValue[]) : [operands];
  return ['and', 'or', '!', '!!'].includes(operator) && list.every(isAboutPresence);
}
