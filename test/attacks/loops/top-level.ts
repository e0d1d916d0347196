// expect: load TRANSFORM_TOP_LEVEL_FAILED
for (;;);
export default () => null;
