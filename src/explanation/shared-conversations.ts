/*
 * A key of a conversation that does not tell two things apart: it reads a number that is counted in each project, or
 * what contains many things, such as a board. Of a person, a channel or a text without a field one conversation is
 * what is meant, and nothing is told.
 */
import { valueAt, type JsonValue } from '../json.ts';
import { SECRET_KEY } from '../telemetry/telemetry.ts';
import { compareBodies, EVENT_ID, nameFirst, OF_A_TRY, readsOf, type Fields } from './compared-requests.ts';

/** Two bodies whose keys are the same. */
export interface SharedKey {
  /** As it is written. */
  readonly template: string;
  readonly now: JsonValue;
  readonly other: JsonValue;
  /** What the mapping prints, which is mostly what it is about. */
  readonly message?: string | undefined;
}

/** The field that tells the two apart, and the key that reads it, too. */
export interface Telling {
  readonly field: string;
  readonly key: string;
}

interface Facts extends SharedKey {
  readonly reads: readonly string[];
  readonly fields: Fields;
}

/** What the key leaves out; undefined where one conversation of both may well be meant. */
export function missingInKey(shared: SharedKey): Telling | undefined {
  const reads = readsOf(shared.template);
  const isOfPeople = reads.some((path) => path.split('.').some((key) => OF_PEOPLE.test(key)));
  if (reads.length === 0 || isOfPeople) return undefined;
  const facts = { ...shared, reads, fields: compareBodies(shared.other, shared.now) };
  return numberOfAnother(facts) ?? thingWithin(facts);
}

/** Those with whom one talks, and where: all that they say belongs together. */
const OF_PEOPLE =
  /^(?:\w*_)?(?:user|author|sender|actor|customer|contact|member|person|from|to|channel|chat|room|thread|conversation|phone|email|session)(?:_?id|name)?s?$/i;

/** What contains many things. */
const CONTAINER =
  /^(?:project|repo|repository|workspace|organi[sz]ation|org|team|account|shop|store|site|board|space|group|database|folder|calendar|form|environment|cluster|tenant)(?:_?id)?$/i;

/** A number or a name that another container may give, too. */
const COUNTED =
  /^(?:iid|number|index|num|nr|no|seq|ref|branch|name|slug|title|version)$|[a-z_](?:number|Number|iid|Iid)$/;

/** How a container is named, the surest first. */
const CONTAINER_NAMES = [
  'path_with_namespace',
  'full_name',
  'fullName',
  'full_path',
  'key',
  'id',
  'uuid',
  'slug',
  'name',
];

const lastOf = (path: string): string => path.split('.').at(-1) ?? '';
const parentOf = (path: string): string => path.split('.').slice(0, -1).join('.');

const isOfContainer = (path: string): boolean =>
  CONTAINER.test(lastOf(parentOf(path))) || CONTAINER.test(lastOf(path));

/** A number that is the same, of another project, or beside an id that differs. */
function numberOfAnother({ template, reads, fields, now, other }: Facts): Telling | undefined {
  if (reads.some(isOfContainer)) return undefined;
  const counted = reads.find((path) => COUNTED.test(lastOf(path)));
  if (counted === undefined) return undefined;
  const isTold = (path: string): boolean => isWritable(path) && isInBoth(path, now, other);
  const rank = (path: string): number =>
    path.split('.').length * CONTAINER_NAMES.length + CONTAINER_NAMES.indexOf(lastOf(path));
  const isName = (path: string): boolean =>
    CONTAINER.test(lastOf(parentOf(path))) && CONTAINER_NAMES.includes(lastOf(path));
  const [container] = fields.different
    .filter((path) => isTold(path) && isName(path))
    .toSorted((a, b) => rank(a) - rank(b));
  const beside = [parentOf(counted), 'id'].filter(Boolean).join('.');
  const id =
    parentOf(counted) !== '' && fields.different.includes(beside) && isTold(beside) ? beside : undefined;
  if (container !== undefined) return { field: container, key: placed(template, counted, container) };
  return id === undefined ? undefined : { field: id, key: template.replace(readOf(counted), `{{${id}}}`) };
}

/** The place where a template prints a path. */
const readOf = (path: string): RegExp =>
  new RegExp(String.raw`\{\{\s*(?:payload\.)?${path.replaceAll('.', String.raw`\.`)}\s*\}\}`);

/** The key with the container before what it contains. */
function placed(template: string, counted: string, container: string): string {
  const at = template.search(readOf(counted));
  return at === -1
    ? `${template}:{{${container}}}`
    : `${template.slice(0, at)}{{${container}}}:${template.slice(at)}`;
}

/** Fields that tell what became another, and things of which each event brings a new one. */
const OF_A_CHANGE =
  /(?:^|[._])(?:\w*(?:before|after|previous|prev|old|new|from|to)|changes?|commit|head_commit|run|job|build|deploy(?:ment)?|pipeline|check\w*|release|comment|note|message|event|action|review|reply|activity|notification|delivery|label|milestone|status|state|\w*(?:user|author|sender|actor|creator|owner|member|person|assignee|bot|integration))(?:[._]|$)/i;
/** The same in one word, such as `listAfter`. */
const CAMEL_CHANGE = /[a-z](?:Before|After|Creator|Member|User|Author|Sender)(?:\.|$)/;
const OF_A_THING = /^(?:id|uuid|guid|key|number|iid)$|(?:_id|Id|_key|_number)$/;

/** The thing that an event is about, where the key reads only what contains it. */
function thingWithin({ template, reads, fields, now, other, message = '' }: Facts): Telling | undefined {
  const [read, ...more] = reads;
  if (read === undefined || more.length > 0) return undefined;
  const aliases = [read, ...fields.same.filter((path) => isAlias(path, read, now))];
  if (!aliases.some(isOfContainer)) return undefined;
  const siblings = new Set(aliases.map((path) => parentOf(parentOf(path))));
  const isNear = (path: string): boolean => siblings.has(parentOf(parentOf(path)));
  const isNamed = (path: string): boolean => message.includes(`${parentOf(path) || path}.`);
  const [field] = nameFirst(fields.different.filter((path) => isThing(path, now, other))).toSorted(
    (a, b) => Number(isNamed(b)) - Number(isNamed(a)) || Number(isNear(b)) - Number(isNear(a)),
  );
  if (field === undefined) return undefined;
  const isWhole = /^(?:id|uuid|guid)$|(?:_id|Id)$/.test(lastOf(field)) && readOf(read).test(template);
  return {
    field,
    key: isWhole ? template.replace(readOf(read), `{{${field}}}`) : `${template}:{{${field}}}`,
  };
}

/** The same thing under another name, such as the board that a sender calls the model. */
function isAlias(path: string, read: string, body: JsonValue): boolean {
  const value = valueAt(body, path.split('.'));
  return path !== read && OF_A_THING.test(lastOf(path)) && value === valueAt(body, read.split('.'));
}

function isThing(path: string, now: JsonValue, other: JsonValue): boolean {
  if (!OF_A_THING.test(lastOf(path)) || !isWritable(path) || !isInBoth(path, now, other)) return false;
  const own = path.split('.').slice(-2).join('.');
  const isOther = [EVENT_ID, OF_A_TRY, OF_A_CHANGE, CAMEL_CHANGE, SECRET_KEY].some((form) => form.test(own));
  return !isOther && !isOfContainer(path);
}

/** Outside of lists, and without a sign that a template could not write. */
const isWritable = (path: string): boolean => /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/.test(path);

const isInBoth = (path: string, now: JsonValue, other: JsonValue): boolean =>
  [now, other].every((body) => ['string', 'number'].includes(typeof valueAt(body, path.split('.'))));
