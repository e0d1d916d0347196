/*
 * A key of a conversation that does not tell two things apart: it reads a number that is counted in each project. Of a
 * person, a channel or a text without a field one conversation is what is meant, and nothing is told.
 */
import { valueAt, type JsonValue } from '../json.ts';
import { compareBodies, readsOf, type Fields } from './compared-requests.ts';

/** Two bodies whose keys are the same. */
export interface SharedKey {
  /** As it is written. */
  readonly template: string;
  readonly now: JsonValue;
  readonly other: JsonValue;
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
  return numberOfAnother(facts);
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

/** Outside of lists, and without a sign that a template could not write. */
const isWritable = (path: string): boolean => /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/.test(path);

const isInBoth = (path: string, now: JsonValue, other: JsonValue): boolean =>
  [now, other].every((body) => ['string', 'number'].includes(typeof valueAt(body, path.split('.'))));
