import type { Finding, Place } from '../../../base/document/document.ts';
import type { Subject } from '../../../base/finding.ts';

/** A part of a template: its text as written, and where that stands. */
export interface TemplatePart {
  readonly text: string;
  readonly at: Place;
}

/** A call of a helper, or of what was taken for one. */
export interface TemplateCall {
  readonly name: string;
  readonly hasArguments: boolean;
}

/** A path from the root, with what is read without `forEach`. */
export interface TemplateRead {
  readonly keys: readonly string[];
  readonly at: Place;
  readonly withItem: boolean;
}

export interface TemplateSubject extends Subject {
  readonly kind: 'template';
  readonly source: string;
  readonly findings: readonly Finding[];
  readonly isUsable: boolean;
  readonly reads: readonly TemplateRead[];
  readonly placeOf: (start: number, end: number) => Place;
}
