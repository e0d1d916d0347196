// expect: load TRANSFORM_TOP_LEVEL_AWAIT
await 1;
export default () => 1;
