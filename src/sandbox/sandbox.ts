export type {
  MappedPosition,
  TransformCall,
  TransformFailure,
  TransformLogLine,
  TransformRef,
  TransformReply,
  Transforms,
} from './transform.ts';
