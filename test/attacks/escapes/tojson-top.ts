// expect: ok {"message":"from toJSON"}
export default () => ({ toJSON(key: string) { return { message: key === "" ? "from toJSON" : "key " + key }; } });
