import type { EvaluationAdvice } from '../advice/requests.ts';
import type { RoutingTable } from '../../engine/mapping/mapping.ts';
import { isReserved } from '../../engine/mapping/facts.ts';
import { proofCoverage } from '../../engine/verify/facts.ts';
import type { HookRequest } from '../../base/request.ts';

/** Marks the fields that the signature of the path does not cover; without a signature there is nothing to mark. */
export function withUnsigned<
  Explained extends { readonly request: HookRequest; readonly advice: EvaluationAdvice },
>(explained: Explained, table: Pick<RoutingTable, 'settingsOf'>): Explained {
  const { request, advice } = explained;
  const { verify, method, bodyFormat } = table.settingsOf(request.path);
  const covered = verify && proofCoverage(verify);
  const { fields } = advice;
  if (covered === undefined || fields === undefined) return explained;
  const isBinaryEvent = bodyFormat === 'cloudevents' && request.headers['ce-type'] !== undefined;
  const isCovered = (path: string): boolean => {
    const keys = path.split('.');
    const [root = '', name = ''] = isReserved(keys[0] ?? '') ? keys : ['payload', ...keys];
    if (root === 'headers') return covered.headers.includes(name);
    if (root === 'query' || method === 'GET') return covered.url;
    return covered.body && !(isBinaryEvent && root === 'payload' && name !== 'data');
  };
  const unsigned = fields.fields
    .filter(({ path, value }) => value !== undefined && !isCovered(path))
    .map(({ path }) => path);
  return unsigned.length === 0
    ? explained
    : { ...explained, advice: { ...advice, fields: { ...fields, unsigned } } };
}
