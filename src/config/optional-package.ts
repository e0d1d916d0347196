import { createRequire } from 'node:module';

/** The first of the packages that is not installed where `from` (a file or its URL) looks for them. */
export function findMissingPackage(names: readonly string[], from: string): string | undefined {
  const require = createRequire(from);
  return names.find((name) => {
    try {
      require.resolve(name);
      return false;
    } catch (error) {
      // Other codes mean a package that is there but has no entry for require.
      return (error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND';
    }
  });
}
