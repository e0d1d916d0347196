import { joinSentences } from '../../finding.ts';
import type { RoutingTable } from '../../mapping/mapping.ts';
import type { RequestAdvisor } from '../../server/server.ts';
import { explainProof } from '../proofs/sender.ts';
import { explainQuestion } from '../proofs/question.ts';
import { diagnoseToken } from '../proofs/token.ts';
import { createDecisionAdvisor } from './decision-advice.ts';
import { sayFindings } from './decision-words.ts';
import { findDifference, operatorOf } from './difference.ts';
import { nearName } from './near-names.ts';
import { refusalFinding } from './refusal-notes.ts';
import { repeatFacts } from './repeat-note.ts';

/** What the server may ask of the requests of one generation. */
export function createAdvisor(table: RoutingTable): RequestAdvisor {
  return {
    onRefusal: (refused) => refusalFinding(refused, table),
    onEvaluation: createDecisionAdvisor(table),
    howDifferent: (failed) => findDifference(failed.found, failed.expected, operatorOf(failed)),
    onRepeat: repeatFacts,
    say: (findings, path) => {
      const said = sayFindings(findings, { path, table });
      return said.length === 0 ? undefined : joinSentences(said, '; ');
    },
    onToken: (request) =>
      diagnoseToken(
        request,
        request.unknownName === undefined ? undefined : nearName(request.unknownName, table),
      ),
    onProof: explainProof,
    onQuestion: explainQuestion,
  };
}
