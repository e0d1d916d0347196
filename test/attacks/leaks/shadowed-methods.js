// expect: user-error
export default ({ payload }) => {
  const kept = Object.prototype.hasOwnProperty.kept ?? Function.prototype.toString.kept ?? Error.prototype.toString.kept;
  if (kept !== undefined) return { message: kept };
  Object.prototype.hasOwnProperty.kept = payload.canary;
  return { message: "stored" };
};
