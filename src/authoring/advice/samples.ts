/** What samples of requests say of mappings: paths that no sample has, values that none has, keys that tell nothing apart. */
export {
  comparedIn,
  type EventSchema,
  kindsOfPath,
  sampledMappings,
  type Sample,
  type SampledMapping,
} from './samples/sampled-mapping.ts';
export { payloadTypes } from './samples/payload-types.ts';
