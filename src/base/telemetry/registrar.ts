import { Counter, Gauge, Histogram, type Registry } from '@prometheus-io/client';

/** Makes metrics that one registry prints. */
export interface Registrar {
  counter(name: string, help: string, labelNames?: readonly string[]): Counter<string>;
  gauge(name: string, help: string, labelNames?: readonly string[]): Gauge<string>;
  histogram(
    name: string,
    help: string,
    options: { readonly buckets: readonly number[]; readonly labelNames?: readonly string[] },
  ): Histogram<string>;
}

export function createRegistrar(registry: Registry): Registrar {
  const registers = [registry];
  return {
    counter: (name, help, labelNames = []) => new Counter({ name, help, labelNames, registers }),
    gauge: (name, help, labelNames = []) => new Gauge({ name, help, labelNames, registers }),
    histogram: (name, help, { buckets, labelNames = [] }) =>
      new Histogram({ name, help, labelNames, buckets: [...buckets], registers }),
  };
}

/** Mappings told apart; further ones are counted under `other`, so that series stay bounded. */
const MAX_MAPPINGS = 200;

/** Makes labels of mapping ids; empty where no mapping took part. */
export function createMappingLabel(): (mappingId: string | undefined) => string {
  const mappings = new Set<string>();
  return (mappingId) => {
    if (mappingId === undefined) return '';
    if (mappings.size < MAX_MAPPINGS) mappings.add(mappingId);
    return mappings.has(mappingId) ? mappingId : 'other';
  };
}
