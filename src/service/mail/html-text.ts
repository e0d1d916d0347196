/** Longer HTML is cut before it is read: what is left makes a body of any length that is delivered. */
const MAX_HTML_CHARS = 250_000;
/** Deeper elements are left out; newsletters come to about 60. */
const MAX_DEPTH = 200;
const MAX_CHILDREN = 5_000;
/** 100,000 open elements in one another kept the parser for 6 s, 2,000 for 10 ms. */
const MAX_OPEN = 2_000;
const VOID = /^(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr|p|li|td|tr|th|[!?].*)$/i;

/** The readable text of an HTML body, without images and with the address of every link. */
export async function htmlText(html: string): Promise<string> {
  const { convert } = await import('html-to-text');
  const source = html.slice(0, MAX_HTML_CHARS);
  // What is nested like this was made to hurt: only its words are kept.
  if (openElements(source) > MAX_OPEN) return source.replaceAll(/<[^<>]*>/g, ' ');
  return convert(source, {
    wordwrap: false,
    limits: { maxInputLength: MAX_HTML_CHARS, maxDepth: MAX_DEPTH, maxChildNodes: MAX_CHILDREN },
    selectors: [
      { selector: 'img', format: 'skip' },
      { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
      ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({
        selector,
        options: { uppercase: false },
      })),
    ],
  });
}

/** How many elements are open at once at most, roughly: ends that may be left out are not counted. */
function openElements(html: string): number {
  let open = 0;
  let most = 0;
  for (const [, end, name = ''] of html.matchAll(/<(\/?)([a-z!?][a-z0-9]*)/gi)) {
    if (VOID.test(name)) continue;
    open = end === '/' ? Math.max(0, open - 1) : open + 1;
    most = Math.max(most, open);
  }
  return most;
}
