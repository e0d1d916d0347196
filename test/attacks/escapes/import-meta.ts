// expect: ok {"message":"contained"}
export default () => {
  const meta: any = import.meta;
  return { message: Object.keys(meta).length === 0 && meta.url === undefined && meta.dirname === undefined && meta.resolve === undefined ? "contained" : Object.keys(meta).join() };
};
