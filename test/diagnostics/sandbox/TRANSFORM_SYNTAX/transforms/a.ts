export default ({ payload }) => {
  const title: = payload.title;
  return { message: title };
};
