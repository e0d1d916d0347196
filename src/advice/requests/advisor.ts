import type { RoutingTable } from '../../mapping/mapping.ts';
import type { RequestAdvisor } from '../../server/server.ts';
import { explainProof } from '../proofs/sender.ts';
import { explainQuestion } from '../proofs/question.ts';
import { diagnoseToken } from '../proofs/token.ts';
import { createDecisionAdvisor } from './decision-advice.ts';
import { howDifferent, operatorOf } from './difference.ts';
import { nearName } from './near-names.ts';
import { refusalNote } from './refusal-notes.ts';
import { RETURNED_NOTHING } from './refusal-remedy.ts';
import { repeatNote } from './repeat-note.ts';

/** What the server may ask of the requests of one generation. */
export function createAdvisor(table: RoutingTable): RequestAdvisor {
  return {
    onRefusal: (refused) => refusalNote(refused, table),
    onEvaluation: createDecisionAdvisor(table),
    howDifferent: (failed) => howDifferent(failed.found, failed.expected, operatorOf(failed)),
    onRepeat: repeatNote,
    returnedNothing: RETURNED_NOTHING,
    onToken: (request) =>
      diagnoseToken(
        request,
        request.unknownName === undefined ? undefined : nearName(request.unknownName, table),
      ),
    onProof: explainProof,
    onQuestion: explainQuestion,
  };
}
