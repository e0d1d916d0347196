import type { Diagnostic } from '../../src/document/document.ts';
import { findCases } from '../../src/golden/golden.ts';

export const codes = [
  'BODY_FILE_UNREADABLE',
  'BODY_IS_TEXT',
  'CASE_PASSED_OVER',
  'DUPLICATE_CASE',
  'NOT_A_REQUEST',
  'OBSOLETE_EXPECTATION',
  'TWO_BODIES',
];

/** Reads the golden cases in the folder. */
export async function check(folder: string): Promise<readonly Diagnostic[]> {
  return (await findCases(folder)).diagnostics;
}
