// expect: load TRANSFORM_DYNAMIC_IMPORT
export default (c: any) => import(`../../${c.payload.name}.ts`);
