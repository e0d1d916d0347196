import { quoted, say, type Finding, type SourceText } from '../finding.ts';
import { ExactNumber, exactNumber } from '../json.ts';
import type { Member, TreeNode } from './tree.ts';

/** Levels of nesting; the deepest thing an operator writes is a condition, at most 64. */
export const MAX_DEPTH = 200;
/** Parts after aliases were followed: far above any real file, far below what an alias bomb makes. */
const MAX_NODES = 500_000;
/** At most so many duplicate keys are reported: one slip can make one on each line. */
const MAX_DOUBLES = 200;

export function numberNode(text: string, start: number, end: number): TreeNode {
  const exact = exactNumber(text);
  return exact instanceof ExactNumber
    ? { start, end, value: exact.valueOf(), exact }
    : { start, end, value: exact };
}

/** Collects the findings that every format shares while a tree is built. */
export class TreeBuilder {
  readonly source: SourceText;
  readonly findings: Finding[] = [];
  /** Places of duplicate keys: what an alias repeats is reported once. */
  readonly #doubles = new Set<number>();
  #nodes = 0;

  constructor(source: SourceText) {
    this.source = source;
  }

  /** Counts one more part; false where the document is too deep or too large, which is then reported. */
  enter(start: number, depth: number): boolean {
    if (depth > MAX_DEPTH) {
      this.tooDeep(start);
      return false;
    }
    this.#nodes += 1;
    if (this.#nodes <= MAX_NODES) return true;
    this.report('TOO_MANY_PARTS', start, {
      message: say`the document has more than ${String(MAX_NODES)} parts once its aliases are followed`,
      hint: say`remove aliases that contain other aliases`,
    });
    return false;
  }

  tooDeep(start: number): { findings: readonly Finding[] } {
    this.report('TOO_DEEP', start, {
      message: say`the document is nested more than ${String(MAX_DEPTH)} levels deep`,
      hint: say`nest it less; in YAML, an alias inside its own anchor is nested without end`,
    });
    return { findings: this.findings };
  }

  object(start: number, end: number): ObjectBuilder {
    const members = new Map<string, Member>();
    const value: Record<string, unknown> = {};
    return {
      add: (key, node) => {
        const first = members.get(key.name);
        if (key.name === '__proto__') this.#refuseProto(key);
        else if (first !== undefined) this.#refuseSecond(key, first);
        else {
          members.set(key.name, { start: key.start, end: key.end, node });
          value[key.name] = node.value;
        }
      },
      build: () => ({ start, end, value, members }),
    };
  }

  #refuseProto({ start, end }: MemberKey): void {
    const message = 'the key __proto__ is not allowed';
    this.report('FORBIDDEN_KEY', start, { message: quoted(message), end, hint: say`rename the key` });
  }

  #refuseSecond({ start, end }: MemberKey, first: Member): void {
    const { source } = this;
    if (this.#doubles.has(start) || this.#doubles.size >= MAX_DOUBLES) return;
    this.#doubles.add(start);
    this.report('DUPLICATE_KEY', start, {
      message: say`the key ${source.text.slice(start, Math.min(end, start + 80))} is given twice in one object`,
      end,
      labels: [{ at: { source, start: first.start, end: first.end }, text: say`first given here` }],
    });
  }

  report(
    code: string,
    start: number,
    {
      end = start + 1,
      ...finding
    }: Pick<Finding, 'message' | 'hint' | 'labels' | 'facts'> & { end?: number },
  ): void {
    this.findings.push({ severity: 'error', code, ...finding, at: { source: this.source, start, end } });
  }
}

interface MemberKey {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

export interface ObjectBuilder {
  add(key: MemberKey, node: TreeNode): void;
  build(): TreeNode;
}
