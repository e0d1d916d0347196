/** Recognises how senders verify an address, and which `challenge` answers them, by names of fields alone. */
import { joinSentences, quoted, say, write, type Sentence } from '../../../base/finding.ts';
import { inWords } from '../../../base/document/facts.ts';
import { type Sender, shippedSenders } from '../../../engine/senders/senders.ts';
import { onlyField, readJsonMember } from '../../../engine/verify/facts.ts';
import { writtenKey } from '../proofs/written-verify.ts';

/** Only single texts are read, because the request may be a stranger's. */
export interface AskingRequest {
  readonly header: (name: string) => string | undefined;
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly member: (name: string) => string | undefined;
  /** Whether the body is there: a check by the address sends none. */
  readonly hasBody: boolean;
  readonly method?: string | undefined;
  /** The only name of the body; undefined where it has more. */
  readonly onlyName: string | undefined;
}

/** Names the provider, the line of the mapping that answers, where one does, and what else there is to do. */
export interface AddressCheck {
  readonly provider: string;
  readonly write: string | undefined;
  readonly also: string | undefined;
}

type AddressQuestion = NonNullable<Sender['question']>;

function asks(
  { method, headers = {}, query, body = {}, only }: AddressQuestion,
  request: AskingRequest,
): boolean {
  const fits = (patterns: Readonly<Record<string, string>>, read: (name: string) => string | undefined) =>
    Object.entries(patterns).every(([name, pattern]) => {
      const value = read(name);
      return value !== undefined && new RegExp(pattern).test(value);
    });
  return (
    (method === undefined || request.method === method) &&
    fits(headers, request.header) &&
    fits(body, request.member) &&
    (query === undefined || (!request.hasBody && fits(query, (name) => request.query[name]))) &&
    (only === undefined || request.onlyName === only)
  );
}

/** A question with more signs is tried first. */
const weightOf = ({ headers = {}, query = {}, body = {} }: AddressQuestion): number =>
  [headers, query, body].flatMap(Object.values).reduce((sum, pattern) => sum + (pattern === '' ? 1 : 2), 0);

/** Returns undefined for a request that asks nothing, or in a way that is not known. */
export function findAddressCheck(
  request: AskingRequest,
  senders = shippedSenders(),
): AddressCheck | undefined {
  const asking = senders
    .filter(({ question }) => question !== undefined && asks(question, request))
    .toSorted((a, b) => weightOf(b.question ?? {}) - weightOf(a.question ?? {}));
  const [first] = asking;
  if (first === undefined) return undefined;
  const write = written(first);
  const alike = asking.filter((each) => written(each) === write).map(({ title }) => title);
  return { provider: inWords(alike, 'or'), write, also: first.question?.also };
}

export function checkOf(provider: string): AddressCheck | undefined {
  const sender = shippedSenders().find(
    ({ title, question }) =>
      question !== undefined &&
      (provider === title || provider.startsWith(`${title}, `) || provider.startsWith(`${title} or `)),
  );
  return sender && { provider, write: written(sender), also: sender.question?.also };
}

function written({ challenge }: Sender): string | undefined {
  if (challenge === undefined || typeof challenge === 'string') return challenge && `challenge: ${challenge}`;
  const keys = Object.entries(challenge).map(([key, value]) => writtenKey(key, value));
  return `challenge: {${keys.join(', ')}}`;
}

export function adviseOnCheck({ provider, write: line, also }: AddressCheck, place: string): Sentence {
  const answered =
    line === undefined
      ? []
      : [say`${write(line, `in ${place}, beside match`)}, and it is answered without a proof or a run`];
  const said = [...answered, ...(also === undefined ? [] : [quoted(also)])];
  return say`this is how ${provider} checks the address: ${joinSentences(said)}`;
}

/** Reads single texts of a body that is not proved, and builds nothing of it. */
export function readTexts(body: Buffer | undefined): Pick<AskingRequest, 'member' | 'onlyName'> {
  if (body === undefined) return { member: () => undefined, onlyName: undefined };
  return { member: (name) => readJsonMember(body, [name]), onlyName: onlyField(body) };
}
