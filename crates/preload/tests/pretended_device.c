/* What the library of a device has, and nothing else of it. */
int cuPointerGetAttribute(void *data, int attribute, unsigned long long pointer);

int cuPointerGetAttribute(void *data, int attribute, unsigned long long pointer)
{
    (void)data;
    (void)attribute;
    return pointer == 0;
}
