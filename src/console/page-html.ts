/** The document of the console; everything else on the page is made by its script. */

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

/** For everybody the same: asks for the key, which stays out of sight where the page has a session or the link a key. */
export function pageDocument(nonce: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Sluice console</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="csp-nonce" content="${nonce}">
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/main.css">
<script type="module" src="/assets/sign-in.js"></script>
</head>
<body>
<div id="app"></div>
<main class="sign-in" hidden>
<h1>Sluice console</h1>
<form id="sign-in">
<label for="key">Key</label>
<input id="key" name="key" type="password" autocomplete="off" required>
<button type="submit">Open</button>
<p id="problem" role="alert"></p>
</form>
<p class="quiet">With sluice dev, the printed link opens the console. With sluice serve, the log names the file that holds the key.</p>
</main>
<noscript>The console needs JavaScript.</noscript>
</body>
</html>
`;
}
