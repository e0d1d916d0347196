import { Document, isScalar, Scalar, visit, type ScalarTag } from 'yaml';
import { ExactNumber } from '../json.ts';

/**
 * Prints plain data as YAML for reviewing: keys in the order given, texts of several lines as `|` blocks, no anchors,
 * no folding, so that one changed line of a text is one changed line of the file. `parseDocument` reads it back to
 * the same value. Members that are undefined are left out.
 */
export function printYaml(value: unknown): string {
  const document = new Document(value, {
    aliasDuplicateObjects: false,
    customTags: (tags) => [EXACT_NUMBER, ...tags],
  });
  visit(document, {
    Scalar: (_key, node) => {
      if (typeof node.value === 'string' && isBlockText(node.value)) node.type = Scalar.BLOCK_LITERAL;
    },
    Pair: (_key, pair) => {
      // A key is never a block: `? |` is hard to read.
      if (isScalar(pair.key)) pair.key.type = undefined as never;
    },
  });
  return document.toString({ lineWidth: 0, blockQuote: 'literal', flowCollectionPadding: false });
}

/** Prints a number that a double cannot hold as its digits. */
const EXACT_NUMBER: ScalarTag = {
  identify: (value) => value instanceof ExactNumber,
  default: true,
  tag: 'tag:yaml.org,2002:float',
  test: /^(?!)/,
  resolve: (text) => text,
  stringify: ({ value }) => String(value),
};

/** A block can hold no control characters, and one of white space alone cannot be reviewed. */
function isBlockText(text: string): boolean {
  return text.includes('\n') && /\S/.test(text) && !/(?![\n\t])[\p{Cc}\p{Cs}\u2028\u2029\ufeff]/u.test(text);
}

/** A text between single quotes, where only they have to be written twice. */
export function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
