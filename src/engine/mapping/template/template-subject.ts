import type { Finding, Place } from '../../../base/document/document.ts';
import type { Subject } from '../../../base/finding.ts';

/** A part of a template: its text as written, and where that stands. */
export interface TemplatePart {
  readonly text: string;
  readonly at: Place;
}

/** An argument of a helper. */
export interface TemplateArgument extends TemplatePart {
  readonly kind: 'path' | 'number' | 'text' | 'call' | 'other';
}

/** A call of a helper, or of what was taken for one. */
export interface TemplateCall {
  readonly name: string;
  readonly args: readonly TemplateArgument[];
  /** `key=value`. */
  readonly named: readonly { readonly key: string; readonly value: TemplateArgument }[];
}

/** What a template reads and calls. */
export interface TemplateReads {
  /** Paths from the root, with what is read without `forEach`. */
  readonly paths: readonly {
    readonly keys: readonly string[];
    readonly at: Place;
    readonly withItem: boolean;
  }[];
  readonly calls: readonly TemplateCall[];
}

/** A template of a mapping as it was read. */
export interface TemplateSubject extends Subject {
  readonly kind: 'template';
  readonly source: string;
  /** What the engine says of it. */
  readonly findings: readonly Finding[];
  readonly isUsable: boolean;
  readonly reads: TemplateReads;
  readonly placeOf: (start: number, end: number) => Place;
}
