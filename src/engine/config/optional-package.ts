import { createRequire } from 'node:module';

/** The packages that are not installed where `from` (a file or its URL) looks for them. */
export function findMissingPackages(names: readonly string[], from: string): readonly string[] {
  const require = createRequire(from);
  return names.filter((name) => {
    try {
      require.resolve(name);
      return false;
    } catch (error) {
      // Other codes mean a package that is there but has no entry for require.
      return (error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND';
    }
  });
}

/** Why something cannot work while packages are missing, with the command that installs them. */
export function explainMissingPackages(what: string, names: readonly string[]): string {
  const noun = names.length === 1 ? 'package' : 'packages';
  return `${what} needs the ${noun} ${names.join(', ')}: npm install ${names.map(withMajor).join(' ')}`;
}

/** A package in the major version that Sluice is tested with; one that Sluice does not know by its name alone. */
function withMajor(name: string): string {
  const manifest = createRequire(import.meta.url)('../../../package.json') as {
    readonly peerDependencies: Readonly<Record<string, string>>;
  };
  const major = /\d+/.exec(manifest.peerDependencies[name] ?? '')?.[0];
  return major === undefined ? name : `${name}@${major}`;
}
