import type { Finding } from '../../src/base/document/document.ts';
import { findCases } from '../../src/authoring/golden/golden.ts';

export const codes = [
  'BODY_FILE_UNREADABLE',
  'DUPLICATE_CASE',
  'EXPECTATION_FORMAT',
  'NOT_A_REQUEST',
  'OBSOLETE_EXPECTATION',
  'TWO_BODIES',
];

/** Reads the golden cases in the folder. */
export async function check(folder: string): Promise<readonly Finding[]> {
  return (await findCases(folder)).findings;
}
