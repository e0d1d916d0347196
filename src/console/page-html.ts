/** The two documents of the console; everything else on the page is made by its script. */

/** Nothing inline but styles that carry the nonce (the editor makes some), and no address but this one. */
export function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

export function mainDocument(nonce: string): string {
  return document('Sluice console', {
    script: '/assets/main.js',
    head: `<meta name="csp-nonce" content="${nonce}">`,
    body: '<div id="app"></div><noscript>The console needs JavaScript.</noscript>',
  });
}

/** Shown to who has no cookie yet: asks for the key, or takes it from the link. */
export function signInDocument(): string {
  return document('Sluice console: sign in', {
    script: '/assets/sign-in.js',
    head: '',
    body: `<main class="sign-in">
<h1>Sluice console</h1>
<form id="sign-in">
<label for="key">Key</label>
<input id="key" name="key" type="password" autocomplete="off" autofocus required>
<button type="submit">Open</button>
<p id="problem" role="alert"></p>
</form>
<p class="quiet">With sluice dev, the printed link opens the console. With sluice serve, the log names the file that holds the key.</p>
</main>`,
  });
}

function document(
  title: string,
  { script, head, body }: { readonly script: string; readonly head: string; readonly body: string },
): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${head}
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/main.css">
<script type="module" src="${script}"></script>
</head>
<body>
${body}
</body>
</html>
`;
}
