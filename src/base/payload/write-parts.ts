import { isJsonObject, type JsonValue } from '../json.ts';

/** A form in parts as its sender writes it. */
export interface WrittenParts {
  readonly contentType: string;
  readonly bytes: Buffer;
}

const BOUNDARY = 'sluice-form-boundary-7d3a1c9e5b2f';
/** No file of a test is longer; what is said to be is cut. */
const MAX_FILE_BYTES = 4_194_304;

/** Writes fields as parts: texts as they are, a file as so many zeros as it is said to have bytes. */
export function writeParts(fields: Readonly<Record<string, JsonValue>>): WrittenParts {
  const parts = Object.entries(fields).flatMap(([name, value]) => [
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="${quoted(name)}"`),
    ...contentOf(value),
    Buffer.from('\r\n'),
  ]);
  const bytes = Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]);
  return { contentType: `multipart/form-data; boundary=${BOUNDARY}`, bytes };
}

function contentOf(value: JsonValue): readonly Buffer[] {
  if (!isFormFile(value)) {
    return [Buffer.from(`\r\n\r\n${typeof value === 'string' ? value : JSON.stringify(value)}`)];
  }
  const { filename, contentType, size } = value;
  const header = `; filename="${quoted(filename)}"\r\nContent-Type: ${contentType.replaceAll(/[\r\n]/g, '')}\r\n\r\n`;
  return [Buffer.from(header), Buffer.alloc(Math.min(size, MAX_FILE_BYTES))];
}

function quoted(text: string): string {
  return text.replaceAll(/[\r\n]/g, ' ').replaceAll(/["\\]/g, String.raw`\$&`);
}

/** Whether a value is what the payload of a form in parts has in the place of a file. */
export function isFormFile(
  value: JsonValue | undefined,
): value is { readonly filename: string; readonly contentType: string; readonly size: number } {
  return (
    isJsonObject(value) &&
    Object.keys(value).length === 3 &&
    typeof value['filename'] === 'string' &&
    typeof value['contentType'] === 'string' &&
    Number.isInteger(value['size']) &&
    Number(value['size']) >= 0
  );
}
