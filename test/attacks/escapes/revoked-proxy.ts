// expect: user-error not-json
export default () => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy; }
