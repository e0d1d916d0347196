// expect: ok {"message":"contained"}
export default () => {
  const meta = import.meta as any;
  const found = ["url", "filename", "dirname", "resolve", "require"].filter((name) => meta?.[name] !== undefined);
  return { message: found.length === 0 ? "contained" : found.join() };
};
