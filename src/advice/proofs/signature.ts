import { say, todo } from '../../finding.ts';
import { createSecretKey, type KeyObject } from 'node:crypto';
import { bodyVariants } from './body-variants.ts';
import { otherUrl } from './twilio.ts';
import { explainForm } from './form.ts';
import type { SignedRequest } from '../../verify/verify.ts';
import type { FoundKeys } from './written-verify.ts';
import {
  compileContent,
  contentBytes,
  type ContentPart,
  findKey,
  hmacOf,
  type PresentedSignature,
  readKey,
  readPresented,
  type SignatureColumns,
  valuesOf,
} from '../../verify/facts.ts';
import { hashOf } from './signature-shapes.ts';
import { secretVariants } from './secret-variants.ts';
import { urlVariants } from './url-variants.ts';

/** One refused request with all that is needed to try it again in other forms. */
interface Trial {
  readonly columns: SignatureColumns;
  readonly parts: readonly ContentPart[];
  readonly keys: readonly KeyObject[];
  readonly secrets: readonly string[];
  readonly request: SignedRequest;
  readonly presented: PresentedSignature;
}

/** What would have fitted, or undefined. */
export function explainSignature(
  columns: SignatureColumns,
  secrets: readonly string[],
  request: SignedRequest,
): FoundKeys | undefined {
  const parts = compileContent(columns.signed);
  const keys = secrets.flatMap((secret) => {
    const read = readKey(columns, secret);
    return read.kind === 'key' ? [read.key] : [];
  });
  const presented = readPresented(columns, parts, request);
  if (typeof presented === 'string') {
    return presented === 'malformed-proof' ? explainForm(columns, keys, request) : undefined;
  }
  const trial: Trial = { columns, parts, keys, secrets, request, presented };
  return explainSecret(trial) ?? explainUrl(trial) ?? explainBody(trial) ?? explainAlgorithm(trial);
}

function fits(trial: Trial, change: Partial<SignedRequest> = {}): boolean {
  const values = valuesOf({ ...trial.request, ...change }, trial.presented);
  return findKey(trial, contentBytes(trial.parts, values), trial.presented.signatures) >= 0;
}

function explainSecret(trial: Trial): FoundKeys | undefined {
  const { algorithm } = trial.columns;
  if (algorithm === 'ed25519' || algorithm === 'ecdsa-sha256') return undefined;
  return secretVariants(trial.secrets).find(({ bytes }) => fits({ ...trial, keys: [createSecretKey(bytes)] }))
    ?.diagnosis;
}

function explainUrl(trial: Trial): FoundKeys | undefined {
  if (!trial.columns.signed.includes('{url}')) return undefined;
  const { url: own, rawHeaders } = trial.request;
  const found = urlVariants(own, rawHeaders).find(({ url }) => fits(trial, { url }));
  return found === undefined ? undefined : otherUrl(found);
}

function explainBody(trial: Trial): FoundKeys | undefined {
  const found = bodyVariants(trial.request.body).find(({ body }) => fits(trial, { body }));
  if (found === undefined) return undefined;
  return {
    code: 're-encoded-body',
    text: say`the signature fits the body ${found.how}: something between the sender and this service read the body and wrote it again; ${todo}let it pass the bytes as they are`,
  };
}

/** Another hash has another length, so only that one is tried. */
function explainAlgorithm({ columns, parts, keys, request, presented }: Trial): FoundKeys | undefined {
  const [signature] = presented.signatures;
  const hash = hashOf(signature);
  const isHmac = columns.algorithm.startsWith('hmac-');
  if (signature === undefined || hash === undefined || !isHmac || columns.algorithm === `hmac-${hash}`)
    return undefined;
  const content = contentBytes(parts, valuesOf(request, presented));
  if (!keys.some((key) => hmacOf(`hmac-${hash}`, key, content).equals(signature))) return undefined;
  return {
    code: 'algorithm',
    text: say`the sender signs with ${hash}, and this path expects ${columns.algorithm.slice('hmac-'.length)}`,
    change: { algorithm: hash },
  };
}
