import { defined } from '../../../base/json.ts';
import { joinSentences } from '../../../base/finding.ts';
import { operationOf } from '../../../engine/mapping/facts.ts';
import type { RoutingTable } from '../../../engine/mapping/mapping.ts';
import type { HookError } from '../../../base/errors.ts';
import type { HookRequest } from '../../../base/request.ts';
import type { RequestAdvisor } from '../../../service/server/server.ts';
import { findProofFault, sayProof } from '../proofs.ts';
import { findTokenFault } from '../proofs/token-fault.ts';
import { shippedSenders } from '../../../engine/senders/senders.ts';
import { findAddressCheck, readTexts } from '../vocabulary/address-checks.ts';
import { createDecisionAdvisor } from './decision-advice.ts';
import { sayFinding, sayFindings } from './decision-sentences.ts';
import { findDifference } from './difference.ts';
import { type EvaluationAdvice, NO_ADVICE } from './evaluation-advice.ts';
import { requestFinding } from './findings.ts';
import { nearestName } from './near-names.ts';
import { refusalFinding } from './refusal-notes.ts';
import { repeatFacts } from './repeat-note.ts';

/** Makes what the server asks about the requests of one generation. */
export function createAdvisor(table: RoutingTable, senders = shippedSenders()): RequestAdvisor {
  return {
    onRefusal: (refused) => refusalFinding(refused, table),
    onEvaluation: createDecisionAdvisor(table),
    howDifferent: (failed) =>
      findDifference(failed.found, failed.expected, operationOf(failed.rule)?.operator),
    onRepeat: repeatFacts,
    say: (findings, path) => {
      const said = sayFindings(findings, { path, table });
      return said.length === 0 ? undefined : joinSentences(said);
    },
    sayProof,
    onToken: (request) =>
      findTokenFault(
        request,
        request.unknownName === undefined ? undefined : nearestName(request.unknownName, table)?.facts.name,
        senders,
      ),
    onProof: ({ proof, request, refusal, ...known }) =>
      findProofFault(proof, request, refusal, { ...known, senders }),
    onQuestion: ({ method, headers, query, hasBody, body, place }) => {
      const asked = { method, header: (name: string) => headers[name], query, hasBody, ...readTexts(body) };
      const check = findAddressCheck(asked, senders);
      if (check === undefined) return undefined;
      const { provider: asks, write, also } = check;
      return { code: 'challenge', facts: { asks, ...defined({ write, also, mapping: place }) } };
    },
  };
}

/** Says what to do about a body that could not be read. */
export function adviceOnUnread(
  { code, field, facts }: HookError,
  { path, headers, url }: HookRequest,
  table: RoutingTable,
): EvaluationAdvice {
  const found = refusalFinding({ code, field, name: path, method: 'POST', url, headers, facts }, table);
  const refused = found && sayFinding(found, { path, table });
  return refused === undefined ? NO_ADVICE : { ...NO_ADVICE, findings: [requestFinding('remedy', refused)] };
}
