export {
  comparedIn,
  kindsOfPath,
  sampledMappings,
  type Sample,
  type SampledMapping,
} from './samples/sampled-mapping.ts';
export { payloadTypes } from './samples/payload-types.ts';
